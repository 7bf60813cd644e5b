package session

// Dir is the folder of f.
func (f *Files) Dir() string { return f.dir }
