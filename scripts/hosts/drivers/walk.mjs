// What all drivers do with a client, in the same order, once it is connected.

/** The first argument: where the gateway is, and the texts of the kit. */
export const task = JSON.parse(process.argv[2]);
export const headers = { Authorization: `Bearer ${task.http.token}` };

/**
 * `names()` lists the tools, `call(name, args)` calls one, `instructions` is what the library says of them, and `changed`
 * resolves when the library tells of a new list. Without `changed`, a list is asked for anew, as a program would.
 */
export async function walk({ names, call, instructions = async () => '', changed }) {
  const tools = await names();
  const use = async (tool, args = {}) =>
    textOf(
      call,
      tools.find((name) => name.endsWith(tool)),
      args,
    );
  const seen = {
    tools,
    instructions: (await instructions()) ?? '',
    echo: await use('echo', { text: task.greeting }),
    failure: await use('fail'),
    asked: await use('ask'),
  };
  await use('add_tool');
  if (changed !== undefined)
    await Promise.race([changed, new Promise((resolve) => setTimeout(resolve, 3000))]);
  seen.changed = (await names()).some((name) => name.endsWith(task.added));
  console.log(`SEEN ${JSON.stringify(seen)}`);
  process.exit();
}

/** Some libraries throw what a tool reports as its error. */
async function textOf(call, name, args) {
  try {
    const result = await call(name, args);
    return typeof result === 'string' ? result : JSON.stringify(result);
  } catch (error) {
    return String(error.message);
  }
}
