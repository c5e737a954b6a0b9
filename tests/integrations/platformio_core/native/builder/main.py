"""Compiles and links a program with this machine's compiler, as PlatformIO's platform `native` does. If the project
sets custom_prefix, the names of the compiler and its tools begin with this prefix."""

from SCons.Script import Default, DefaultEnvironment

env = DefaultEnvironment()
flags = {name: list(env.get(name, [])) for name in ("CFLAGS", "CXXFLAGS")}
for tool in ("gcc", "g++", "gnulink", "ar"):
    env.Tool(tool)
env.Append(**flags)
prefix = env.GetProjectOption("custom_prefix", "")
if prefix:
    env.Replace(CC=prefix + "gcc", CXX=prefix + "g++", AR=prefix + "ar", RANLIB=prefix + "ranlib")
    # A bare-metal target has no operating system, so it links newlib-nano and the stubs of nosys. The linker also needs
    # the compiler's flags for the processor.
    env.Append(LINKFLAGS=["-specs=nano.specs", "-specs=nosys.specs", "$CCFLAGS"])
Default(env.BuildProgram())
