/**
 * The browsable reference: Swagger UI (https://github.com/swagger-api/swagger-ui), served from here with nothing of others,
 * and no script in the page itself (docs/decisions/0137).
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** Files of the package by the path they are served at. */
export const packageFiles: Readonly<Record<string, { readonly name: string; readonly contentType: string }>> = {
  '/docs/swagger-ui.css': { name: 'swagger-ui.css', contentType: 'text/css; charset=utf-8' },
  '/docs/swagger-ui-bundle.js': { name: 'swagger-ui-bundle.js', contentType: 'text/javascript; charset=utf-8' },
  '/docs/swagger-ui-standalone-preset.js': {
    name: 'swagger-ui-standalone-preset.js',
    contentType: 'text/javascript; charset=utf-8',
  },
  '/docs/LICENSE': { name: 'LICENSE', contentType: 'text/plain; charset=utf-8' },
  '/docs/NOTICE': { name: 'NOTICE', contentType: 'text/plain; charset=utf-8' },
};

const require = createRequire(import.meta.url);

/** The text of a file of the package. */
export function readPackageFile(name: string): Promise<string> {
  return readFile(require.resolve(`swagger-ui-dist/${name}`), 'utf8');
}

/** Path of the script that starts the page. */
export const startScriptPath = '/docs/reference.js';

/** The page. */
export const referencePage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Praxis API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/swagger-ui-standalone-preset.js"></script>
<script src="${startScriptPath}"></script>
</body>
</html>
`;

/** The script that starts the page with the first of the documents to choose from. */
export function startScript(parts: readonly { readonly name: string; readonly url: string }[]): string {
  return `window.ui = SwaggerUIBundle({
  urls: ${JSON.stringify(parts)},
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: 'StandaloneLayout',
});
`;
}

/**
 * What the page may load and call. Swagger UI sets styles in elements, and its icons are data; nothing else is inline.
 * @param origins those of the API that are not the page's own
 */
export function buildReferencePolicy(origins: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...origins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
