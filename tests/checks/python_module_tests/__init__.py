"""The tests of python_module.py."""
