# Stands in the place of nixpkgs where `flake.nix` is only evaluated: what it uses of nixpkgs, and nothing that builds.
{
  outputs =
    { self }:
    let
      named =
        names: make:
        builtins.listToAttrs (
          map (name: {
            inherit name;
            value = make name;
          }) names
        );
      lib = {
        genAttrs = named;
        importTOML = path: builtins.fromTOML (builtins.readFile path);
        optionalString = is: text: if is then text else "";
        licenses = named [ "mit" "asl20" ] (name: name);
      };
      made =
        system: name: inputs:
        derivation (
          inputs
          // {
            inherit system name;
            builder = "/bin/sh";
          }
        );
      packages = system: {
        rustPlatform.buildRustPackage =
          asked:
          made system "${asked.pname}-${asked.version}" {
            inherit (asked) src postInstall cargoBuildFlags nativeBuildInputs;
            lock = asked.cargoLock.lockFile;
          }
          // {
            inherit (asked) meta;
          };
        mkShell = asked: made system "shell" { inherit (asked) packages; };
        stdenv = {
          buildPlatform.canExecute = _: true;
          hostPlatform = { };
        };
      }
      // named [ "installShellFiles" "cargo" "clippy" "git" "openssh" "rustc" "rustfmt" ] (name: name);
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
    in
    {
      inherit lib;
      legacyPackages = named systems packages;
    };
}
