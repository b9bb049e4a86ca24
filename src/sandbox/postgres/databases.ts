import { Client, DatabaseError, escapeIdentifier } from 'pg';

const duplicateDatabase = '42P04';

/** Makes the database on the server of the URL; one that is there already stays as it is. */
export async function createDatabase(url: string, name: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${escapeIdentifier(name)}`);
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === duplicateDatabase)) throw error;
  } finally {
    await client.end();
  }
}
