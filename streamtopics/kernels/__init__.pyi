# The compiled modules have no types: what they take and return is Any.
from types import ModuleType

asum: ModuleType
classes: ModuleType
dirichlet: ModuleType
dpp: ModuleType
gibbs: ModuleType
groups: ModuleType
hdp: ModuleType
left_to_right: ModuleType
minibatch: ModuleType
profiles: ModuleType
rows: ModuleType
sentences: ModuleType
supervised: ModuleType
tokens: ModuleType
variational: ModuleType
was: ModuleType
instruction_set: str

def select(name: str) -> ModuleType: ...
