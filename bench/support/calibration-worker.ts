// A process of the benchmark `plan`: answers seeds until its parent ends.
import { serveSeeds } from './calibration.ts';

serveSeeds();
