/**
 * Messages between the bench and its server processes.
 */

/** What a server process says once it listens. */
export interface Listening {
  readonly origin: string;
}

/** CPU time that the process has used, in µs, user and system together. */
export interface CpuReport {
  readonly cpuMicros: number;
}
