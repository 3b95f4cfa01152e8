/** Says why a server cannot listen, and the remedy. The code stays readable at `code`, the original at `cause`. */
export function explainListenError(error: Error & { code?: string }, host: string, port: number): Error {
  const text = textOf(error, host, port);
  return text === undefined ? error : Object.assign(new Error(text, { cause: error }), { code: error.code });
}

function textOf({ code }: { code?: string }, host: string, port: number): string | undefined {
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${host} is already in use by another process. Stop it, or choose another port`;
  if (code === 'EACCES')
    return `Port ${port} on ${host} is not allowed for this user. Choose a port from 1024 up, or allow the process to use lower ones`;
  if (code === 'EADDRNOTAVAIL')
    return `${host} is not an address of this machine. Listen on 127.0.0.1, or on 0.0.0.0 for all addresses`;
  if (code === 'ENOTFOUND') return `${host} is not the name of an address. Listen on 127.0.0.1 or localhost`;
  return undefined;
}
