"""Complete small examples of what can be added: an adversary, a criterion, a publishing scheme (docs/extending.md)."""
