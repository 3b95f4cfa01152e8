// @ts-check
// A client that is killed in the middle of its calls. Arguments: URL, "events" or "streamable", the tool, the token.
import { connectHttp } from './clients.mjs';

const [url = '', kind, tool = '', token] = process.argv.slice(2);
const client = await connectHttp(url, { isEvents: kind === 'events', token });
for (let call = 0; call < 8; call++) void client.call(tool, { ms: 3000 });
setTimeout(() => process.stdout.write('calling\n'), 200);
