import { setFlagsFromString } from 'node:v8';
import { serve } from '../commands/serve.ts';
import { start } from '../run.ts';

// V8 collects all garbage once buffers and objects together have grown by a share of the objects. A gateway has few objects and
// reads many megabytes, so under attack that happened once or twice a second and stopped all calls for 10 to 20 ms. A share of
// 150 % makes it rarer; the price is garbage that stays longer.
setFlagsFromString('--heap-growing-percent=150');

start<'serve'>({ serve });
