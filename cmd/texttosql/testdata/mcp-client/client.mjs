// A client of another SDK. It prints what it sees as one JSON object. Arguments: an URL and a token, or a command with its
// arguments behind "--".
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const args = process.argv.slice(2);
const transport = args[0] === "--"
  ? new StdioClientTransport({ command: args[1], args: args.slice(2), env: process.env, stderr: "inherit" })
  : new StreamableHTTPClientTransport(new URL(args[0]), { requestInit: { headers: { Authorization: `Bearer ${args[1]}` } } });

const client = new Client({ name: "other", version: "1" }, { capabilities: { elicitation: {} } });
const seen = { progress: [] };
client.setRequestHandler(ElicitRequestSchema, async (request) => {
  seen.form = request.params;
  return { action: "accept", content: { choice: "r2" } };
});
await client.connect(transport);
seen.protocol = transport.protocolVersion ?? "";
seen.tools = (await client.listTools()).tools.map((t) => t.name);
seen.resources = (await client.listResources()).resources.map((r) => r.uri);
seen.templates = (await client.listResourceTemplates()).resourceTemplates.map((r) => r.uriTemplate);
seen.query = await client.callTool({ name: "query", arguments: { sql: "SELECT name FROM singer ORDER BY id", rows: 1 } });
seen.page = await client.callTool({ name: "query", arguments: { sql: "SELECT name FROM singer ORDER BY id", rows: 1, offset: 1 } });
seen.numbers = [];
for (let more = true; more;) {
  const sql = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 2144) SELECT x FROM n";
  const part = (await client.callTool({ name: "query", arguments: { sql, rows: 100, offset: seen.numbers.length } })).structuredContent;
  seen.numbers.push(...part.rows.map((row) => row[0]));
  more = part.truncated;
}
seen.refused = await client.callTool({ name: "query", arguments: { sql: "DROP TABLE singer" } });
seen.schema = (await client.readResource({ uri: "texttosql://schema" })).contents[0].text;
seen.answer = await client.callTool({ name: "ask", arguments: { question: "How many singers are there?" } }, undefined,
  { onprogress: (p) => seen.progress.push(p.message) });
seen.chosen = await client.callTool({ name: "ask", arguments: { question: "Which singers are the best?" } });
seen.follow = await client.callTool({ name: "ask",
  arguments: { question: "How many singers are there?", conversation: seen.answer.structuredContent.conversation } });
seen.check = await client.callTool({ name: "check", arguments: { sql: "DROP TABLE singer" } });
seen.why = await client.callTool({ name: "explain_answer", arguments: { answer_id: seen.answer.structuredContent.answer_id } });
seen.wrong = await client.callTool({ name: "ask", arguments: { question: { text: 7 } } });
const cancel = new AbortController();
setTimeout(() => cancel.abort(), 300);
seen.cancelled = await client.callTool({ name: "ask", arguments: { question: "Which question never ends?" } }, undefined, { signal: cancel.signal })
  .then(() => "answered", () => "cancelled");
await client.close();
console.log(JSON.stringify(seen));
