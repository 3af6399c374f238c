"""One module a prompt: VERSION, render() and parse(). Whatever changes a prompt's words raises its version."""
