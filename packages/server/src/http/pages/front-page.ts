/**
 * The page at `/`: what this is, and where a newcomer goes next.
 */

/** A self-contained HTML page. */
export function renderFrontPage(version: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Praxis</title>
<style>
  body { font: 16px/1.6 system-ui, sans-serif; color: #1c2430; background: #f7f8fa; margin: 0; }
  main { max-width: 44rem; margin: 12vh auto 4rem; padding: 0 1.5rem; }
  h1 { font-size: 2.2rem; margin: 0; letter-spacing: -.02em; }
  p.lead { font-size: 1.15rem; color: #465264; margin-top: .3rem; }
  code { background: #e9edf2; border-radius: 4px; padding: .1em .35em; font-size: .92em; overflow-wrap: anywhere; }
  dt { font-weight: 600; margin-top: 1rem; }
  dd { margin: .15rem 0 0; }
  footer { color: #77828f; font-size: .85rem; margin-top: 3rem; }
</style>
</head>
<body>
<main>
<h1>Praxis</h1>
<p class="lead">A practice-management FHIR R4 API that applications use on behalf of medical practices.</p>
<p>Every call carries two credentials of the same application: <code>Authorization: Bearer …</code> and <code>x-api-key</code>.</p>
<dl>
<dt>Get a token</dt>
<dd><code>POST /auth/realms/{realm}/protocol/openid-connect/token</code> with <code>grant_type=client_credentials</code></dd>
<dt>Read and write</dt>
<dd><code>GET /{environment}/firm/{firm}/{product}/fhir/v2/Patient</code></dd>
<dt>What is served</dt>
<dd><code>GET /{environment}/firm/{firm}/{product}/fhir/v2/metadata</code> (no credentials needed)</dd>
<dt>Discovery</dt>
<dd><code>GET /auth/realms/{realm}/.well-known/openid-configuration</code></dd>
<dt>Reference</dt>
<dd><a href="/docs">/docs</a>, as OpenAPI 3.1: <a href="/openapi.json">/openapi.json</a></dd>
<dt>Administration</dt>
<dd><code>/admin/api</code>, as OpenAPI 3.1: <a href="/admin/openapi.json">/admin/openapi.json</a></dd>
<dt>Health</dt>
<dd><a href="/health/live">/health/live</a> · <a href="/health/ready">/health/ready</a></dd>
</dl>
<footer>Praxis ${version}</footer>
</main>
</body>
</html>
`;
}
