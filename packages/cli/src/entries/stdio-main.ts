import { stdio } from '../commands/stdio.ts';
import { start } from '../run.ts';

start<'stdio'>({ stdio });
