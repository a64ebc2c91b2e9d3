"""What python_module.py runs."""
