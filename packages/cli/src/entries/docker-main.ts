import { docker } from '../commands/docker.ts';
import { start } from '../run.ts';

start<'docker'>({ docker });
