// A process of the benchmark `plan`: answers seeds until its parent goes.
import { serveSeeds } from './calibration.ts';

serveSeeds();
