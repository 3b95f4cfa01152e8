import { endOfLine, readHeaders, type HttpHeaders } from '../../../wire/http/head-lines.ts';
import { InvalidHttp } from '../../../wire/http/invalid-http.ts';

/** The request line and the headers of a request. */
export interface RequestHead {
  readonly method: string;
  /** Target of the request line, as the client wrote it. */
  readonly url: string;
  /** By names in lower case; the values of one that comes several times are joined by commas. */
  readonly headers: HttpHeaders;
  /** True where the client speaks HTTP/1.0: it does not understand chunks. */
  readonly isOld: boolean;
  /** Bytes of the body; undefined where it comes in chunks. */
  readonly length: number | undefined;
  /** True where the client ends the connection with this request. */
  readonly isLast: boolean;
  /** True where the client sends its body only once it is told to continue. */
  readonly waits: boolean;
}

const DIGITS = /^\d{1,15}$/u;
const METHOD = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE)$/u;
/** A path, a whole URL, or the server itself. Other characters could be read by a proxy in another way. */
const TARGET = /^(?:\/[!-~]*|[A-Za-z]+:\/\/[!-~]+|\*)$/u;

/** Reads the head of a request, without the empty line behind it. Throws an `InvalidHttp` where it breaks the rules. */
export function readRequestHead(text: string): RequestHead {
  const end = endOfLine(text, 0);
  const [method = '', url = '', version, ...more] = text.slice(0, end).split(' ');
  if ((version !== 'HTTP/1.1' && version !== 'HTTP/1.0') || more.length > 0)
    throw new InvalidHttp('its first line does not end in HTTP/1.1');
  if (!METHOD.test(method) || !TARGET.test(url)) throw new InvalidHttp('its first line is not valid');
  const headers = readHeaders(text, end + 2, repeat);
  const isOld = version === 'HTTP/1.0';
  if (!isOld && !headers.has('host')) throw new InvalidHttp('the Host header is missing');
  return { method, url, headers, isOld, length: lengthOf(headers, isOld), ...wishesOf(headers, isOld) };
}

/** Finds out where the body ends (RFC 9112, 6.3). A request that two readers could end at two places is refused. */
function lengthOf(headers: HttpHeaders, isOld: boolean): number | undefined {
  const coding = headers.get('transfer-encoding');
  const length = headers.get('content-length');
  if (coding === undefined) {
    if (length === undefined) return 0;
    if (!DIGITS.test(length)) throw new InvalidHttp('its length is not a number');
    return Number(length);
  }
  if (length !== undefined) throw new InvalidHttp('it has both a length and chunks');
  if (isOld || coding.toLowerCase() !== 'chunked')
    throw new InvalidHttp('its transfer encoding is not chunked');
  return undefined;
}

function wishesOf(headers: HttpHeaders, isOld: boolean): Pick<RequestHead, 'isLast' | 'waits'> {
  const connection = headers.get('connection')?.toLowerCase();
  return {
    isLast: isOld ? connection !== 'keep-alive' : connection?.includes('close') === true,
    waits: !isOld && headers.get('expect')?.toLowerCase() === '100-continue',
  };
}

/** Joins the values of a header that comes twice. Two hosts or lengths are how requests are smuggled past a proxy. */
function repeat(name: string, first: string, next: string): string {
  if (name === 'host') throw new InvalidHttp('the Host header is there twice');
  if (name === 'content-length') throw new InvalidHttp('it has two lengths');
  return `${first}, ${next}`;
}
