"""Compiles and links by this machine's compiler, as PlatformIO's platform of this name does, or by one with a prefix."""

from SCons.Script import Default, DefaultEnvironment

env = DefaultEnvironment()
flags = {name: list(env.get(name, [])) for name in ("CFLAGS", "CXXFLAGS")}
for tool in ("gcc", "g++", "gnulink", "ar"):
    env.Tool(tool)
env.Append(**flags)
prefix = env.GetProjectOption("custom_prefix", "")
if prefix:
    env.Replace(CC=prefix + "gcc", CXX=prefix + "g++", AR=prefix + "ar", RANLIB=prefix + "ranlib")
    # A bare machine has no operating system; and a linker needs to know the processor, too.
    env.Append(LINKFLAGS=["-specs=nano.specs", "-specs=nosys.specs", "$CCFLAGS"])
Default(env.BuildProgram())
