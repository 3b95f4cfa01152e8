import type { AuthPrompt } from './auth-adapter.ts';

/** Asks for a sign-in. The sign-in has begun: after the user has visited `authUrl`, the same call succeeds. */
export class AuthRequiredError extends Error {
  override readonly name: string = 'AuthRequiredError';
  readonly code: string = 'AUTHENTICATION_REQUIRED';
  readonly authUrl: string;
  readonly prompt: AuthPrompt;

  constructor(prompt: AuthPrompt) {
    super(`${prompt.message} ${prompt.authUrl}`);
    this.authUrl = prompt.authUrl;
    this.prompt = prompt;
  }
}

interface OAuthFailure {
  readonly retryable?: boolean;
  readonly error?: string;
  readonly code?: 'FORBIDDEN' | 'NOT_FOUND' | 'SERVICE_ERROR';
}

/** Reports a failed request to the issuer or a failed sign-in. Carries no `cause`: causes hold tokens and bodies. */
export class OAuthRequestError extends Error {
  override readonly name: string = 'OAuthRequestError';
  readonly code: string;
  /** True where the same call may succeed later, because the issuer did not answer or was out of order. */
  readonly retryable: boolean;
  /** Code of the issuer, such as `invalid_grant`, where one was sent. */
  readonly error: string | undefined;

  constructor(message: string, options: OAuthFailure = {}) {
    super(message);
    this.retryable = options.retryable ?? false;
    this.error = options.error;
    this.code = options.code ?? 'SERVICE_ERROR';
  }
}

/** Builds an error from one of the OAuth library, of whose texts and causes only codes are taken: the rest may hold secrets. */
export function requestErrorFrom(error: unknown, action: string): OAuthRequestError {
  const own = causesOf(error).find((each) => each instanceof OAuthRequestError);
  if (own !== undefined) return own;
  const issuerCode = issuerCodeOf(error);
  if (issuerCode !== undefined) {
    const detail = microsoftCodeOf(error);
    return new OAuthRequestError(`The issuer refused ${action}: ${issuerCode}${detail}`, {
      error: issuerCode,
      code: 'FORBIDDEN',
    });
  }
  return new OAuthRequestError(`The answer of the issuer to ${action} is not valid: ${reasonOf(error)}`);
}

const REASONS: Readonly<Record<string, string>> = {
  OAUTH_RESPONSE_IS_NOT_CONFORM: 'its status is not one that OAuth allows',
  OAUTH_RESPONSE_IS_NOT_JSON: 'it is not JSON',
  OAUTH_PARSE_ERROR: 'it is not JSON',
  OAUTH_INVALID_RESPONSE: 'a field is missing or has a wrong type',
  OAUTH_INVALID_SERVER_METADATA: 'its metadata lacks an endpoint',
  OAUTH_MISSING_SERVER_METADATA: 'its metadata lacks an endpoint',
  OAUTH_HTTP_REQUEST_FORBIDDEN: 'an endpoint is not https',
  OAUTH_UNSUPPORTED_OPERATION: 'its token type or algorithm is not supported',
  OAUTH_JWT_CLAIM_COMPARISON_FAILED: 'the ID token was issued for another sign-in, client or issuer',
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: 'its issuer is not the one asked',
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: 'the ID token has expired; is the clock of this machine right?',
};

function reasonOf(error: unknown): string {
  const codes = causesOf(error).map((each) => textOf(each, 'code') ?? '');
  return (
    codes.map((code) => REASONS[code]).find((reason) => reason !== undefined) ?? 'the format is not known'
  );
}

/** Returns the error code of an OAuth error response. RFC 6749 allows more characters; issuers use these. */
function issuerCodeOf(error: unknown): string | undefined {
  const name = textOf(error, 'name');
  if (name === 'WWWAuthenticateChallengeError') return 'invalid_client';
  if (name !== 'ResponseBodyError' && name !== 'AuthorizationResponseError') return undefined;
  const code = textOf(error, 'error') ?? '';
  return KNOWN_CODES.has(code) ? code : 'an error that OAuth does not define';
}

// A closed list: any other text could be a secret that a hostile issuer plays back into the log.
const KNOWN_CODES: ReadonlySet<string> = new Set([
  'access_denied',
  'account_selection_required',
  'authorization_pending',
  'consent_required',
  'expired_token',
  'interaction_required',
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_request_object',
  'invalid_request_uri',
  'invalid_scope',
  'invalid_target',
  'login_required',
  'registration_not_supported',
  'server_error',
  'slow_down',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
  'unsupported_token_type',
]);

/** Finds Microsoft's number of a mistake, which its documentation explains. */
function microsoftCodeOf(error: unknown): string {
  const number = /\bAADSTS\d{4,9}\b/.exec(textOf(error, 'error_description') ?? '');
  return number === null ? '' : ` (${number[0]})`;
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let each = error; each instanceof Error && causes.length < 5; each = each.cause) causes.push(each);
  return causes;
}

function textOf(value: unknown, key: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const text: unknown = Reflect.get(value, key);
  return typeof text === 'string' ? text : undefined;
}
