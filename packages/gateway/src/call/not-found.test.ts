import { expect, test } from 'vitest';
import {
  ambiguousName,
  hiddenTool,
  invalidToolName,
  notFound,
  othersStarting,
  ownerNotRunning,
  ownerStarting,
  renamedTool,
  taskNotFound,
} from './not-found.ts';

test('a sentence about a missing name has at most 400 characters, however long the name is', () => {
  const long = 'y'.repeat(120_000);
  const all = [
    notFound('Tool', long),
    invalidToolName(':', long),
    notFound('Resource', long),
    ownerNotRunning('Tool', long, 'a'),
    ownerStarting('Tool', long, 'a'),
    othersStarting('Prompt', long, ['a', 'b']),
    ambiguousName('Tool', long, ['a', 'b']),
    hiddenTool(long, 'a', 'excludeTools'),
    renamedTool(long, 'a', 'b'),
    taskNotFound(long),
  ];
  for (const text of all) expect(text.length).toBeLessThan(400);
});

test('a sentence about a missing name says which format or server it expected', () => {
  expect(notFound('Tool', 'a:b')).toBe('Tool not found: a:b');
  expect(invalidToolName('__', 'nope')).toBe(
    "Invalid tool name format. Expected 'serverKey__toolName', got 'nope'",
  );
  expect(ownerNotRunning('Tool', 'a:b', 'a', 'it is disabled')).toBe(
    "Tool not found: a:b (its server 'a' is not running; it is disabled)",
  );
});
