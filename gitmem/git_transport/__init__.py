"""Git's own protocols to other repositories, by path, socket, ssh and http, each within a time limit."""
