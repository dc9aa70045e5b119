// Public entry of the zone shift.
export { createZoneShiftController } from './controller.ts';
