"""Publishers: from a table to a release."""
