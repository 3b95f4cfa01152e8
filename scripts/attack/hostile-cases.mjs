// @ts-check
// What hostile servers and clients were seen to break once, by number: H high, M medium, L low.
import { attackCase } from './case.mjs';

export const HOSTILE = [
  attackCase('H1', 'A subscription to thousands of URIs is one request to its server, and ends nothing.'),
  attackCase('H2', 'A batch of a server is limited like that of a client and processed in slices.'),
  attackCase('H3', 'Weir stops a server that does not read its answers, at the limit.'),
  attackCase('H4', 'The lists of a server may take 32 MiB; above that, Weir stops the server.'),
  attackCase('H5', 'Bytes that are not valid JSON text reach no peer: the one call gets an error.'),
  attackCase('H6', 'Names that a server no longer lists are forgotten, and no call walks through all names.'),
  attackCase(
    'H7',
    'A name or URI of one key never reaches the server of another key, also while a server is not running.',
  ),
  attackCase(
    'M2',
    'What docker is told is judged after variables are replaced; no option passes as the image.',
  ),
  attackCase(
    'M3',
    'The requests that wait on one connection are limited, and all connections share each turn.',
  ),
  attackCase('M4', 'A list that changes all the time is read with growing pauses.'),
  attackCase('M5', 'Answers that a client does not read are counted, whatever they are made of.'),
  attackCase('M6', 'The history keeps the beginning of an error, not all of it.'),
  attackCase(
    'M7',
    'Notifications and requests to a server that does not read have a ceiling; input is paused.',
  ),
  attackCase('M8', 'Notifications that belong to one call reach its client alone.'),
  attackCase('M9', 'Weir stops processes of sessions that left, the idlest first.'),
  attackCase('L1', 'Every header of a request is read; more than 16 KiB of them are refused.'),
  attackCase('L2', 'Expect: 100-continue gets 100 only after admission.'),
  attackCase('L3', 'An error repeats a short part of what the client wrote.'),
  attackCase('L4', 'An answer with neither result nor error fails its call.'),
  attackCase('L5', 'retry: 0 of a remote server does not beat the back-off.'),
  attackCase('L6', 'The path of a URL is treated as a secret.'),
  attackCase('L7', 'A device or a pipe as config, log file or token fails at once.'),
  attackCase('L8', 'A state folder that others can write to, or own, is refused.'),
  attackCase('L9', 'A request of any shape on the control socket ends its connection at most.'),
  attackCase('L10', 'The questions of one server are limited.'),
  attackCase('L11', 'A long name takes a short part of the history.'),
  attackCase('L12', 'A question that is never answered blocks the questions of others for 60 s at most.'),
  attackCase('L13', 'A lock file that was edited is noticed: its hashes are checked.'),
];
