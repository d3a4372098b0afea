"""The operations of the API, a module for each resource: parse, call one service, render."""
