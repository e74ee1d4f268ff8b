"""Reports: an audit as terminal text and as one HTML page. They show what the audit holds and compute nothing."""
