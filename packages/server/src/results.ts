export { fillContent } from './results/fill-content.ts';
