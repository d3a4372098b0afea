// Reads a JSON list of definitions (text) from standard input, and writes a JSON list of the same
// length: for each the list of its errors, empty if asl-validator accepts it.
import { readFileSync } from "node:fs";
import validate from "asl-validator";

const check = (text) => {
  const { isValid, errors } = validate(JSON.parse(text), { checkPaths: true, checkArn: true });
  return isValid ? [] : errors.map((error) => `${error["Error code"]}: ${error.Message ?? JSON.stringify(error)}`);
};

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(check)));
