// Plain JavaScript of an old dialect: it has to be understood by the very Node that it turns away.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    'a2a-strict needs Node 22.19 or later, and this is ' + process.versions.node + ': run it by npm after npm ci, which brings its own.',
  );
  process.exit(1);
}
