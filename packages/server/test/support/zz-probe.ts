import { after } from 'node:test';
import { clientToken, makeApplication, makeFirm, openTestService } from './service.ts';
import { openWire, openRaw } from './wire.ts';
let t=performance.now();
const service = await openTestService({ after });
console.log('open', performance.now()-t);
const maple = await makeFirm(service, 'maple');
const app = await makeApplication(service, 'Main', ['acl/*'], [maple]);
const token = await clientToken(service, app);
const wire = openWire(service.origin);
const headers = { authorization: `Bearer ${token}`, 'x-api-key': app.clientKey };
const base = '/sandbox/firm/maple/pm/fhir/v2';
const show = async (method: string, path: string, h: any = headers, body?: string) => { const a = await wire.send({ method, path, headers: h, ...(body===undefined?{}:{body}) }).catch(e=>({error:String(e)} as any)); console.log(method, path.slice(0,100), '→', a.status ?? a.error, a.headers?.['www-authenticate'] ?? '', a.headers?.allow ?? '', a.headers?.['content-length'], a.headers?.connection, (a.text??'').slice(0, 400)); return a; };
for (const m of ['PATCH','OPTIONS','TRACE','PROPFIND','HEAD','GET','LINK','M-SEARCH','QUERY','CONNECT','PURGE','LOCK']) await show(m, base + '/Patient');
for (const m of ['PATCH','OPTIONS','TRACE','PROPFIND','POST','PUT','DELETE']) await show(m, base + '/metadata', {});
for (const m of ['PATCH','OPTIONS','TRACE','PROPFIND','POST','PUT','DELETE']) await show(m, '/health/live', {});
for (const m of ['PATCH','OPTIONS','TRACE','PROPFIND','GET']) await show(m, '/auth/realms/sandbox/protocol/openid-connect/token', {});
for (const m of ['PATCH','OPTIONS','PROPFIND']) await show(m, base+'/Patient/x', headers, '{"resourceType":"Patient"}');
for (const p of ['/', '/health/ready', '/sandbox/firm/maple/pm/fhir/v2', '/sandbox/firm/maple/pm/fhir/v2/', base+'//Patient', base+'/Patient/', base+'/Patient//', base+'/patient', base+'/%50atient', base+'/Patient/%31', base+'/Patient/a%2Fb', base+'/../v2/Patient', base+'/Patient/..', base+'/Patient/%2e%2e','/sandbox/firm/maple%2f/pm/fhir/v2/Patient','/SANDBOX/firm/maple/pm/fhir/v2/Patient', '/sandbox/firm/'+'a'.repeat(300)+'/pm/fhir/v2/Patient', '/sandbox/firm/maple/pm/fhir/v2/Patient/'+'a'.repeat(300), base+'/Patient/x/_history/..', base+'/Patient/_history', base+'/_history', base+'/Patient/x/_history/1/', base+'/Patient?', '*', 'http://evil/sandbox/firm/maple/pm/fhir/v2/Patient', base+'/Patient#x']) await show('GET', p);
for (const raw of [`GET ${base}/Patient/é HTTP/1.1\r\nhost: x\r\n\r\n`, `GET ${base}/Pat ient HTTP/1.1\r\nhost: x\r\n\r\n`, `GET ${base}/Patient\0 HTTP/1.1\r\nhost: x\r\n\r\n`, `GET /health/live HTTP/1.1\r\n\r\n`, `GET /health/live HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n`,`GET /health/live HTTP/1.0\r\n\r\n`, `POST /health/live HTTP/1.1\r\nhost: x\r\nexpect: nonsense\r\ncontent-length: 0\r\n\r\n`, `GET /health/live HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n`, `FOO /health/live HTTP/1.1\r\nhost: x\r\n\r\n`, `GET /health/live HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n`, `GET /health/live HTTP/1.1\r\nhost: x\r\nx: a\0b\r\n\r\n`,`GET http://evil/health/live HTTP/1.1\r\nhost: x\r\n\r\n`, `GET /health/live HTTP/1.1\r\nhost: x\r\nx-request-id: a b\r\n\r\n`, `GET /health/live HTTP/2.0\r\nhost: x\r\n\r\n`]) {
  const c = await openRaw(service.origin); c.write(raw);
  const a: any = await Promise.race([c.answer().catch(e=>({status: String(e)})), new Promise(r=>setTimeout(()=>r({status:'timeout'}),1000))]);
  console.log(JSON.stringify(raw.slice(0,80)), '→', a.status, JSON.stringify(a.headers), a.text?.slice(0,300)); c.destroy();
}
wire.close();
