/** Headers of every answer on the callback: nothing is loaded, kept, framed or passed on. */
export const CALLBACK_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

/** Status and page that answer a browser. Pages are fixed texts: nothing of the request stands in them. */
export interface CallbackAnswer {
  readonly status: number;
  readonly page: string;
}

export const SIGNED_IN: CallbackAnswer = {
  status: 200,
  page: page('Signed in', 'You can close this window and return to the application.'),
};

export const SIGN_IN_FAILED: CallbackAnswer = {
  status: 400,
  page: page('Sign-in failed', 'You can close this window. The application tells the reason.'),
};

/** Answers a request that names another host, as a web page does whose name leads to this machine (DNS rebinding). */
export const WRONG_HOST: CallbackAnswer = {
  status: 403,
  page: page('Forbidden', 'This address is only reached by the name in the sign-in.'),
};

export const NOT_FOUND: CallbackAnswer = {
  status: 404,
  page: page('Not found', 'This address does not belong to a sign-in that is waiting.'),
};

function page(title: string, text: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`;
}
