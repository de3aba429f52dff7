/**
 * Loaded before the script that launch.mjs starts: when the launcher is gone, the script is asked to end as by SIGTERM.
 * Processes that the script starts with the same options are not concerned.
 */
const launcher = process.env.SETUP_LAUNCHER_PID;
delete process.env.SETUP_LAUNCHER_PID;

if (process.channel && launcher === String(process.ppid)) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  // The channel must not keep a script alive that has nothing left to do.
  process.channel.unref();
}
