"""HTTP: routers, schemas, problems. Each route validates, calls one service, and shapes the reply."""
