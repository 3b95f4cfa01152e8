/** Cuts a stream of chunks into lines; linear however long a line is. */
export function splitLines(onLine) {
  let parts = [];
  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      parts.push(chunk.subarray(start, end));
      onLine(parts.length === 1 ? parts[0].toString() : Buffer.concat(parts).toString());
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  };
}
