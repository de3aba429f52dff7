/**
 * Chromium without a window, driven by its own protocol (https://chromedevtools.github.io/devtools-protocol/).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import WebSocket from 'ws';

/** Longest time that a browser or a page may take, in ms. */
const patienceMs = 30_000;
const pollMs = 20;

export interface PageOptions {
  readonly width: number;
  readonly height: number;
  readonly isDark?: boolean;
}

export interface OpenedPage {
  /** From the navigation to the end of the load event. */
  readonly loadMs: number;
  /** From the navigation to the first text on the screen. */
  readonly paintMs: number;
  /** Processor time that the page took: the same beside other work. */
  readonly cpuMs: number;
  /** Elements, texts and other nodes of the document. */
  readonly nodes: number;
}

/** A tab, as one window with no storage of others. */
export interface Page {
  open(url: string): Promise<OpenedPage>;
  /** What an expression comes to, a promise when it is kept. @throws Error where it throws */
  evaluate<T>(expression: string): Promise<T>;
  /** Waits until an expression is true. @throws Error after 30 seconds */
  until(expression: string): Promise<void>;
  /** PNG of the window, or of the whole page. */
  screenshot(isWhole?: boolean): Promise<Buffer>;
  /** Errors that the console shows, and exceptions of scripts, since the page was made. */
  errors(): readonly string[];
  close(): Promise<void>;
}

export interface Browser {
  openPage(options: PageOptions): Promise<Page>;
  close(): Promise<void>;
}

/** Starts Chromium. @param directory for its profile */
export async function openBrowser(program: string, directory: string): Promise<Browser> {
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0', '--no-first-run'];
  const child = spawn(program, [...flags, `--user-data-dir=${directory}`, 'about:blank'], { stdio: 'ignore' });
  const failed = new Promise<never>((_resolve, reject) => child.once('error', reject));
  const connection = await Promise.race([connect(child, path.join(directory, 'DevToolsActivePort')), failed]);
  return {
    openPage: (options) => openPage(connection, options),
    async close() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      connection.close();
      child.kill();
      await ended;
    },
  };
}

/** Parameters and results of the protocol are objects of many shapes. */
// biome-ignore lint/suspicious/noExplicitAny: see above
type Told = any;

type Listener = (method: string, params: Told) => void;

interface Connection {
  send(method: string, params?: object, sessionId?: string): Promise<Told>;
  listen(sessionId: string, listener: Listener): void;
  close(): void;
}

/** The connection to the browser, which writes its address to a file. */
async function connect(child: ChildProcess, file: string): Promise<Connection> {
  const lateMs = performance.now() + patienceMs;
  while (!existsSync(file) || !readFileSync(file, 'utf8').includes('/')) {
    if (performance.now() > lateMs || child.exitCode !== null) throw new Error('Chromium does not start');
    await delay(pollMs);
  }
  const [port = '', address = ''] = readFileSync(file, 'utf8').split('\n');
  const socket = new WebSocket(`ws://127.0.0.1:${port}${address}`, { maxPayload: 64 << 20 });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const waiting = new Map<number, { resolve(result: Told): void; reject(error: Error): void }>();
  const listeners = new Map<string, Listener>();
  let asked = 0;
  socket.on('message', (data) => {
    const { id, result, error, method, params, sessionId } = JSON.parse(data.toString());
    if (id === undefined) return void listeners.get(sessionId)?.(method, params);
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error === undefined) resolve?.(result);
    else reject?.(new Error(error.message));
  });
  return {
    send(method, params = {}, sessionId = undefined) {
      asked += 1;
      const id = asked;
      socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
    },
    listen: (sessionId, listener) => void listeners.set(sessionId, listener),
    close: () => socket.terminate(),
  };
}

async function openPage(connection: Connection, { width, height, isDark = false }: PageOptions): Promise<Page> {
  const { browserContextId } = await connection.send('Target.createBrowserContext');
  const { targetId } = await connection.send('Target.createTarget', { url: 'about:blank', browserContextId });
  const { sessionId } = await connection.send('Target.attachToTarget', { targetId, flatten: true });
  const send = (method: string, params: object = {}): Promise<Told> => connection.send(method, params, sessionId);
  const errors: string[] = [];
  let loaded = (): void => undefined;
  connection.listen(sessionId, (method, params) => {
    if (method === 'Page.loadEventFired') loaded();
    if (method === 'Log.entryAdded' && params.entry.level === 'error') errors.push(params.entry.text);
    if (method === 'Runtime.exceptionThrown') errors.push(params.exceptionDetails.exception?.description ?? '');
    if (method === 'Runtime.consoleAPICalled' && params.type === 'error') errors.push(JSON.stringify(params.args));
  });
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`);
  await send('Performance.enable', { timeDomain: 'threadTicks' });
  await send('Network.setCacheDisabled', { cacheDisabled: true });
  await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 });
  const features = [{ name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' }];
  await send('Emulation.setEmulatedMedia', { features });
  const evaluate = async (expression: string): Promise<Told> => {
    const { result, exceptionDetails } = await send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? expression);
    return result.value;
  };
  const until = async (expression: string): Promise<void> => {
    const lateMs = performance.now() + patienceMs;
    while ((await evaluate(expression)) !== true) {
      if (performance.now() > lateMs) throw new Error(`never true: ${expression}`);
      await delay(pollMs);
    }
  };
  return {
    async open(url) {
      const isLoaded = new Promise<void>((resolve) => {
        loaded = resolve;
      });
      const { errorText } = await send('Page.navigate', { url });
      if (errorText !== undefined) throw new Error(`${url}: ${errorText}`);
      await isLoaded;
      await until(`performance.getEntriesByName('first-contentful-paint').length === 1 && ${loadEnd} > 0`);
      return {
        loadMs: await evaluate(loadEnd),
        cpuMs: await readTaskMs(send),
        paintMs: await evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"),
        nodes: await evaluate(countNodes),
      };
    },
    evaluate,
    until,
    async screenshot(isWhole = false) {
      const { data } = await send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: isWhole });
      return Buffer.from(data, 'base64');
    },
    errors: () => errors,
    close: async () => void (await connection.send('Target.disposeBrowserContext', { browserContextId })),
  };
}

/** What the main thread of the page has worked. */
async function readTaskMs(send: (method: string) => Promise<Told>): Promise<number> {
  const { metrics } = await send('Performance.getMetrics');
  return metrics.find(({ name }: { name: string }) => name === 'TaskDuration').value * 1000;
}

const loadEnd = "performance.getEntriesByType('navigation')[0].loadEventEnd";

const countNodes = `(() => {
  const walker = document.createTreeWalker(document);
  let nodes = 1;
  while (walker.nextNode() !== null) nodes += 1;
  return nodes;
})()`;
