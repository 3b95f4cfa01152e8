import { hideSecrets } from './client-text.ts';
import { codeOfName, codeOfStatus, codeOfSystem, isFailure, isSystemCode } from './codes.ts';
import { chainOf, readMember } from './thrown.ts';

/** Longer texts are not codes. */
const LONGEST_CODE = 48;
/** Codes that authors give to their errors, such as QUOTA_EXCEEDED. */
const CUSTOM = /^[A-Z][A-Z\d]*(?:_[A-Z\d]+)*$/u;
/** Codes of services, such as invalid_grant. With digits they could be a key. */
const OF_SERVICE = /^[a-z]+(?:[_-][a-z]+)*$/u;

/** Returns the code of whatever was thrown, or of the nearest error behind it that has one. */
export function codeOf(thrown: unknown): string | undefined {
  return chainOf(thrown)
    .map(ownCode)
    .find((code) => code !== undefined);
}

/** The author's code comes first; HTTP libraries have a code of their own beside the status, which says less. */
function ownCode(error: unknown): string | undefined {
  const code = readMember(error, 'code');
  const text = typeof code === 'string' && isPlain(code) ? code : '';
  if (CUSTOM.test(text) && !isSystemCode(text)) return text;
  const status = statusOf(error, code);
  if (status !== undefined) return codeOfStatus(status);
  const name = readMember(error, 'name');
  return (
    codeOfSystem(text) ??
    (typeof name === 'string' ? codeOfName(name) : undefined) ??
    (OF_SERVICE.test(text) ? text : undefined)
  );
}

/** Returns true for a text that is short and holds no credential, such as a key in capitals. */
function isPlain(code: string): boolean {
  return code.length <= LONGEST_CODE && hideSecrets(code) === code;
}

/** Finds the HTTP status in the places where HTTP libraries keep it. */
function statusOf(error: unknown, code: unknown): number | undefined {
  const response = readMember(error, 'response');
  const places = [
    readMember(error, 'status'),
    readMember(error, 'statusCode'),
    readMember(response, 'status'),
    readMember(response, 'statusCode'),
    code,
  ];
  return places.map(asNumber).find((status) => status !== undefined && isFailure(status));
}

function asNumber(value: unknown): number | undefined {
  if (typeof value === 'string' && /^\d{3}$/u.test(value)) return Number(value);
  return typeof value === 'number' ? value : undefined;
}
