// Public entry of the server-side table printers.
export { ageOf, humanDuration } from './human.ts';
export { defaultPrinter, printers } from './printers.ts';
