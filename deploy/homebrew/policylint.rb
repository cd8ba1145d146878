# The formula for Homebrew, for a tap; `.ci/release formula v0.1.0` fills in version and checksum.
class Policylint < Formula
  desc "Lint and simulate Kubernetes Gateway API policy attachment, offline"
  homepage "https://github.com/example/policylint"
  url "https://github.com/example/policylint/releases/download/vVERSION/policylint-VERSION.tar.gz"
  sha256 "SHA256"
  license "Apache-2.0"

  depends_on "python@3.13"

  def install
    system Formula["python@3.13"].opt_bin/"python3.13", "-m", "venv", libexec
    pip = [libexec/"bin/python", "-m", "pip", "install", "--no-cache-dir"]
    # What it needs is held to the hashes of the lock that its own image is built from.
    system(*pip, "--require-hashes", "--only-binary=:all:", "-r", "requirements.lock")
    system(*pip, "--no-deps", buildpath)
    bin.install_symlink libexec/"bin/policylint", libexec/"bin/kubectl-policylint"
    generate_completions_from_executable(bin/"policylint", "completion")
    system bin/"policylint", "man", "--to", man1
  end


  test do
    assert_match "policylint #{version}", shell_output("#{bin}/policylint --version")
    assert_match "target-not-found", shell_output("#{bin}/policylint rule GWP101")
  end
end
