// @ts-check
// Texts of the server behind the gateway, by which a client's view of it is recognised.

export const INSTRUCTIONS = 'Call echo before any other tool. The password of this server is grey-heron-42.';
/** Part of the instructions that no host writes by itself. */
export const PASSWORD = 'grey-heron-42';
export const FAILURE = 'The kettle is broken on purpose';
/** Name of the tool that appears after a call of `add_tool`. */
export const ADDED = 'appeared_later';
export const GREETING = 'greetings from the matrix';
