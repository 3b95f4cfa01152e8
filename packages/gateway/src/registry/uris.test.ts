import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { joinUri, splitTemplateUri, splitUri } from './uris.ts';

verifies('AGG-CALL-3', 'splitUri returns the server and the URI that joinUri joined', () => {
  expect(joinUri('a', 'note://one')).toBe('weir://a/note%3A%2F%2Fone');
  fc.assert(
    fc.property(fc.string(), fc.webUrl(), fc.boolean(), (serverKey, url, isApp) => {
      const uri = isApp ? url.replace(/^https?/, 'ui') : url;
      expect(splitUri(joinUri(serverKey, uri))).toEqual({ serverKey, uri });
    }),
  );
});

verifies('AGG-CALL-3', 'joinUri keeps the ui: scheme of an app, where hosts look for it', () => {
  expect(joinUri('my server', 'ui://app/page.html')).toBe('ui://weir.my%20server/ui%3A%2F%2Fapp%2Fpage.html');
  expect(new URL(joinUri('Ann', 'ui://app/x')).href).toBe(joinUri('Ann', 'ui://app/x'));
});

test('splitTemplateUri splits the shared URI of an app template only in its own scheme', () => {
  const template = 'ui://app/{page}';
  expect(joinUri('a', template)).toBe('ui://weir.a/ui%3A%2F%2Fapp%2F{page}');
  expect(splitTemplateUri('a', template, 'ui://weir.a/ui%3A%2F%2Fapp%2Fx.html')).toBe('ui://app/x.html');
  expect(splitTemplateUri('a', template, 'weir://a/ui%3A%2F%2Fapp%2Fx.html')).toBeUndefined();
});

test('splitUri returns undefined for other URIs', () => {
  for (const uri of ['ui://app/x', 'ui://weir.a', 'weir://a', 'weir://%/x', 'note://weir.a/x'])
    expect(splitUri(uri)).toBeUndefined();
});
