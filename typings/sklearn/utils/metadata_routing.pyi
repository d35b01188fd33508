UNUSED: str
