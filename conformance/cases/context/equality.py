# Objects for one context are equal, and say which it is.
# shows: additions, The package
#   Context: objects for one context are equal, and have the same hash and a text
from pyarrow import cuda

ctx = cuda.Context(0)
(cuda.Context(0) == ctx, cuda.Context(0, ctx.handle) == ctx, ctx.new_buffer(1).context == ctx)
hash(cuda.Context()) == hash(ctx)
{ctx: "the first"}[cuda.Context(0)]
(ctx == 0, ctx == ctx.handle, ctx == "context")
ctx
