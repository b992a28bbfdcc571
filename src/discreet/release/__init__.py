"""After a release: what was released, and all that is made of it without looking again."""
