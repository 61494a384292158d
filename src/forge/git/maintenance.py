"""stub"""
from forge.git.objects import Objects
def after_landing(objects: Objects) -> None:
    pass
