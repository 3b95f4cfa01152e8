import { hideSecrets } from './client-text.ts';
import { codeOfName, codeOfStatus, codeOfSystem, isFailure, isSystemCode } from './codes.ts';
import { chainOf, readMember } from './thrown.ts';

/** Longer texts are not codes. */
const LONGEST_CODE = 48;
/** Codes that authors give to their errors, such as QUOTA_EXCEEDED. */
const CUSTOM = /^[A-Z][A-Z\d]*(?:_[A-Z\d]+)*$/u;

/** Returns the code of whatever was thrown, or of the nearest error behind it that has one. */
export function codeOf(thrown: unknown): string | undefined {
  return chainOf(thrown)
    .map(ownCode)
    .find((code) => code !== undefined);
}

/** The author's code comes first; HTTP libraries have a code of their own beside the status, which says less. */
function ownCode(error: unknown): string | undefined {
  const code = readMember(error, 'code');
  if (typeof code === 'string' && isCustom(code)) return code;
  const status = statusOf(error, code);
  if (status !== undefined) return codeOfStatus(status);
  const name = readMember(error, 'name');
  return (
    (typeof code === 'string' ? codeOfSystem(code) : undefined) ??
    (typeof name === 'string' ? codeOfName(name) : undefined)
  );
}

/** Returns true for the author's own code; a key in capitals is a secret, and no code. */
function isCustom(code: string): boolean {
  return (
    code.length <= LONGEST_CODE && CUSTOM.test(code) && !isSystemCode(code) && hideSecrets(code) === code
  );
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
