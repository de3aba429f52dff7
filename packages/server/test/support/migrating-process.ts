/** Program: migrates the database of the connection that stands in MIGRATE_CONNECTION, prints the versions it applied. */
import { migrate } from '../../src/database/migrate.ts';
import { testLog } from './cluster.ts';

const connection = JSON.parse(process.env['MIGRATE_CONNECTION'] ?? '{}');
process.stdout.write(JSON.stringify(await migrate({ connection, log: testLog })));
