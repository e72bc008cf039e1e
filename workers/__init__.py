"""The processes that run the application."""
