# A client in Python (package mcp). It prints what it sees as one JSON object. Arguments: a URL, or a command with its
# arguments behind "--".
import asyncio, json, os, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

NUMBERS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 2144) SELECT x FROM n"

async def main(args):
    if args[0] == "--":
        there = stdio_client(StdioServerParameters(command=args[1], args=args[2:], env=dict(os.environ)))
    else:
        try:
            from mcp.client.streamable_http import streamable_http_client as over_http
        except ImportError:
            from mcp.client.streamable_http import streamablehttp_client as over_http
        there = over_http(args[0])
    async with there as streams, ClientSession(streams[0], streams[1]) as s:
        await s.initialize()
        call = lambda name, **args: s.call_tool(name, args)
        seen = {"tools": sorted(t.name for t in (await s.list_tools()).tools)}
        for name, result in {
            "query": await call("query", sql="SELECT name FROM singer ORDER BY id", rows=1),
            "page": await call("query", sql="SELECT name FROM singer ORDER BY id", rows=1, offset=1),
            "refused": await call("query", sql="DROP TABLE singer"),
            "wrong": await call("query", query="SELECT 1"),
        }.items():
            seen[name] = {"isError": result.model_dump(by_alias=True)["isError"], "text": result.content[0].text}
        seen["numbers"], more = [], True
        while more:
            part = (await call("query", sql=NUMBERS, rows=100, offset=len(seen["numbers"]))).model_dump(by_alias=True)["structuredContent"]
            seen["numbers"] += [row[0] for row in part["rows"]]
            more = part["truncated"]
        answer = (await call("ask", question="How many singers are there?")).model_dump(by_alias=True)["structuredContent"]
        seen["answer"] = {"status": answer["status"], "rows": answer["rows"]}
        print(json.dumps(seen))

asyncio.run(main(sys.argv[1:]))
