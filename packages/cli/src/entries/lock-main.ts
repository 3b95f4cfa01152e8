import { lock } from '../commands/lock.ts';
import { start } from '../run.ts';

start<'lock'>({ lock });
