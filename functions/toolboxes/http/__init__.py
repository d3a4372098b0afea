"""The toolbox for services that speak HTTP."""
